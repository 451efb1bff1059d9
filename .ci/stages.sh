# How the run of a clean checkout goes through its stages: each by its name, with what it took, and with an end.
failed_stages=()

# stage NAME COMMAND...: runs it, prints how it went, and remembers it when it failed.
stage() {
	local name=$1 started=$SECONDS
	shift
	printf '\n── %s ──\n' "$name"
	"$@"
	report_stage "$name" $? $((SECONDS - started))
}

declare -A begun_stages=()
stage_logs=$(mktemp -d)

# begin NAME COMMAND...: runs it alongside the stages that follow, until finish.
begin() {
	local name=$1 log=$stage_logs/${#begun_stages[@]}
	shift
	(
		started=$SECONDS
		"$@" >"$log" 2>&1
		code=$?
		echo $((SECONDS - started)) >"$log.took"
		exit $code
	) &
	begun_stages[$name]="$! $log"
}

# finish NAME: waits for what was begun, prints its output and how it went, and remembers it when it failed.
finish() {
	local name=$1 pid log code
	read -r pid log <<<"${begun_stages[$name]}"
	printf '\n── %s, alongside the stages before ──\n' "$name"
	wait "$pid"
	code=$?
	cat "$log"
	report_stage "$name" $code "$(cat "$log.took")"
	code=$?
	rm -f "$log" "$log.took"
	return $code
}

report_stage() {
	local name=$1 code=$2 took=$3
	if [ "$code" -eq 0 ]; then
		printf '── %s: ok, %d s ──\n' "$name" "$took"
		return 0
	fi
	# These are the codes of timeout, for what ended when it was asked to and for what had to be killed.
	if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
		printf '── %s: FAILED, it hangs and was ended after %d s ──\n' "$name" "$took"
	else
		printf '── %s: FAILED, %d s ──\n' "$name" "$took"
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
