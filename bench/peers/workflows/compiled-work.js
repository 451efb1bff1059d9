// A workflow for the compiler of Workflow DevKit. `ran` is set by the subject.
export async function work(steps) {
	"use workflow";
	let last = "";
	for (let at = 0; at < steps; at++) last = await step();
	return last;
}
async function step() {
	"use step";
	return globalThis.ran();
}
