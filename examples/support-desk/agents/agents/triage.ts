import { defineAgent } from "@holdfast/threads";

/** Talks to everybody first, and hands over what is about money. */
export default defineAgent({
	name: "triage",
	title: "Triage",
	sideA: { prompt: "greet" },
	hooks: ["open_desk"],
});
