import { defineAgent } from "@holdfast/threads";

/** Answers first, and hands requests about money over. */
export default defineAgent({
	name: "triage",
	title: "Triage",
	sideA: { prompt: "greet" },
	hooks: ["open_desk"],
});
