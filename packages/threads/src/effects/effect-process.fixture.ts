// A process that schedules or carries out effects, for tests: `{path of the database} {schedule | work}`. It writes a line for
// each effect that it has carried out, and runs until it is killed.
import { sqliteHost } from "holdfast/sqlite";
import { effectsOn, workerOn } from "./effects.fixture.ts";

const [path = "", what] = process.argv.slice(2);
const host = sqliteHost(path);
if (what === "schedule") {
	const effects = effectsOn(host, "thread");
	await effects.schedule("count", { n: 1 });
	await effects.schedule("count", { n: 2 }, 50);
	process.stdout.write("scheduled\n");
	setInterval(() => {}, 60_000);
} else {
	const { worker } = workerOn(host, {
		atOnce: 4,
		claimMs: 1_000,
		run: async ({ args }) => {
			process.stdout.write(`${JSON.stringify(args)}\n`);
			if (args.n === "stuck") await new Promise(() => {});
		},
	});
	worker.start();
	setInterval(() => {}, 60_000);
}
