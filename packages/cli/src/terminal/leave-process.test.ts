import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";

test.skipIf(process.platform === "win32")(
	"commands in flight end with the process, even while a request to the disk is pending",
	async () => {
		const fifo = join(temporaryFolder(), "fifo");
		execFileSync("mkfifo", [fifo]);
		const script = `
			import { open } from "node:fs";
			import { leaveProcess } from ${JSON.stringify(join(import.meta.dirname, "leave-process.ts"))};
			process.on("exit", (code) => process.stdout.write("listener " + code));
			open(${JSON.stringify(fifo)}, "r", () => {}); // Pending until another process writes.
			setImmediate(() => leaveProcess(3));
		`;
		const { promise, resolve } = Promise.withResolvers<{ code: unknown; stdout: string }>();
		execFile(process.execPath, ["--input-type=module", "-e", script], (error, stdout) =>
			resolve({ code: error?.code, stdout }),
		);
		expect(await promise).toEqual({ code: 3, stdout: "listener 3" });
	},
);
