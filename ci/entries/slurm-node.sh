# shellcheck shell=sh disable=SC2034
# For slurm-healthcheck and slurm-undrain, which look for it beside them: what Slurm says of this
# node. One that is drained or down for a reason which does not begin with "membw:" is somebody
# else's: nothing is written about it. Exit status 2: Slurm was not asked, or refused.
node=${SLURMD_NODENAME:-$(hostname -s)}
health=${MEMBW_HEALTH:-${MEMBW_STREAM:-/opt/membw/bin/membw-stream}}
[ -n "${MEMBW_HEALTH:-}" ] || health=${health%/*}/membw-health
# of a person's shell: the node is one of this host's cluster, in all of its partitions
unset SLURM_CLUSTERS SINFO_PARTITION SINFO_FEDERATION
export SINFO_LOCAL=1

ask() { # COMMAND...: a controller that hangs takes no more; Slurm ends a health check after 60 s
	timeout -k 1 4 "$@" || { [ $? -ne 124 ] || echo "$1: no answer within 4 s" >&2; return 1; }
}

tell() { # TEXT: a health check's own output goes nowhere
	echo "$node: $1" >&2
	timeout 1 logger -t membw -- "$node: $1" 2>/dev/null
}

whose() { # sets `owner` (nobody, us, other), `state` and `reason`
	if ! answer=$(ask sinfo -a -h -N -n "$node" -o 'membw|%T|%E' 2>&1) || [ -z "$answer" ]; then
		: "${answer:=it has no such node; SLURMD_NODENAME=NAME tells its name there}"
		tell "Slurm does not say how it is, nothing is changed: $answer"
		exit 2
	fi
	# a line per partition, and whatever a wrapper prints around them
	rows=$(printf '%s\n' "$answer" | sed -n 's/^membw|//p' | tail -n 1)
	if [ -z "$rows" ]; then
		tell "Slurm does not say how it is, nothing is changed: $(printf '%s\n' "$answer" | head -n 1)"
		exit 2
	fi
	answer=$rows
	state=$(printf %s "${answer%%|*}" | tr -cd a-z_) # without its sign: drained*
	reason=${answer#*|}
	case $state:$reason in
	drain*:membw:* | down*:membw:* | fail*:membw:* | inval*:membw:*) owner=us ;;
	idle:* | alloc*:* | mix*:* | comp*:* | plan*:* | reserv*:* | maint*:*) owner=nobody ;;
	*) owner=other ;; # also reboot, power_down and what newer releases have
	esac
}

update() { # NAME=VALUE...
	{ refusal=$(ask scontrol update nodename="$node" "$@" 2>&1 >&3) && return; } 3>&1
	tell "scontrol update $*: $refusal"
	exit 2
}
