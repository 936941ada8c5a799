# shellcheck shell=bash disable=SC2034
# For the scripts of this folder that source this, called with an architecture and a folder: apt-get
# with lists of its own, so that this system learns of no other architecture; of another release from
# the mirror that this system has, where the first word is RELEASE-ARCHITECTURE.
set -euo pipefail

[ $# -eq 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; }
arch=${1#*-} release=${1%%-*}
mkdir -p "$2"
folder=$(realpath "$2")
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir -p "$room"/{state/lists/partial,cache/archives/partial,packages}
touch "$room/status"
options=(-qq -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State=$room/state"
	-o "Dir::Cache=$room/cache" -o "Dir::State::status=$room/status" -o APT::Sandbox::User=root)
if [ "$release" != "$arch" ]; then
	mirror=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
		sed -nE 's/^(URIs:|deb( \[.*\])?) *([^ ]+\/debian\/?)( .*)?$/\3/p' | head -1 || true)
	echo "deb $mirror $release main" >"$room/sources.list"
	options+=(-o "Dir::Etc::SourceList=$room/sources.list" -o Dir::Etc::SourceParts=/dev/null)
fi
apt-get "${options[@]}" update || true # a mirror may lack one list: what is missing, the download says
