/** Ends the process without waiting for pending requests. */

/**
 * Ends the process at once. `process.exit` waits for pending disk and name server requests for as long as they take. If
 * one is open, the process is therefore replaced by one that only exits.
 */
export function leaveProcess(code: number): void {
	const isAsking = process.getActiveResourcesInfo().some((kind) => kind.includes("Req"));
	if (isAsking) {
		try {
			// Neither call below runs the listeners, which end commands in flight.
			process.emit("exit", code);
			process.execve?.("/bin/sh", ["sh", "-c", `exit ${code}`], {});
		} catch {
			// This system has no such call, or no shell.
		}
		process.kill(process.pid, "SIGKILL");
	}
	process.exit(code);
}
