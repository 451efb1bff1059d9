// The support desk in a process that kills itself, for tests: `{database} {facts}`. It dies when so many facts of its threads are
// committed; 0: it lives.
import { startDesk } from "../examples/support-desk/desk.ts";

const [database = "", facts = "0"] = process.argv.slice(2);
let left = Number(facts);
const { url } = await startDesk({
	database,
	port: 0,
	middleware: [
		{
			name: "killer",
			begin: () => ({
				deltas: "as-is",
				committed() {
					if (--left === 0) process.kill(process.pid, "SIGKILL");
				},
			}),
		},
	],
});
process.stdout.write(`${url}\n`);
