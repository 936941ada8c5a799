# shellcheck shell=bash disable=SC2034
# For the scripts of this folder that source this, called with an architecture and a folder: apt-get
# with lists of its own, so that this system learns of no other architecture.
set -euo pipefail

[ $# -eq 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; }
arch=$1
mkdir -p "$2"
folder=$(realpath "$2")
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir -p "$room"/{state/lists/partial,cache/archives/partial,packages}
touch "$room/status"
options=(-qq -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State=$room/state"
	-o "Dir::Cache=$room/cache" -o "Dir::State::status=$room/status" -o APT::Sandbox::User=root)
apt-get "${options[@]}" update || true # a mirror may lack one list: what is missing, the download says
