# How the run of a clean checkout goes through its stages: each by its name, with what it took, and with an end.
failed_stages=()

# stage NAME COMMAND...: runs it, prints how it went, and remembers it when it failed.
stage() {
	local name=$1 started=$SECONDS code
	shift
	printf '\n── %s ──\n' "$name"
	"$@"
	code=$?
	local took=$((SECONDS - started))
	if [ $code -eq 0 ]; then
		printf '── %s: ok, %d s ──\n' "$name" $took
		return 0
	fi
	# These are the codes of timeout, for what ended when it was asked to and for what had to be killed.
	if [ $code -eq 124 ] || [ $code -eq 137 ]; then
		printf '── %s: FAILED, it hangs and was ended after %d s ──\n' "$name" $took
	else
		printf '── %s: FAILED, %d s ──\n' "$name" $took
	fi
	failed_stages+=("$name")
	return 1
}

# within SECONDS COMMAND...: ends a program or a function, and all that it started, when it takes longer.
within() {
	local limit=$1
	shift
	if [ "$(type -t "$1")" = function ]; then
		export -f "${1?}"
		set -- bash -uo pipefail -c '"$@"' bash "$@"
	fi
	timeout --kill-after=20 "$limit" "$@"
}

# The stages that failed, by their names.
list_failed_stages() {
	echo "${failed_stages[*]:-Every stage passed}"
}
