import { defineTool } from "@holdfast/threads";
import { z } from "zod";

export default defineTool({
	description: "Saves a note in the thread's files for one day.",
	args: z.object({ text: z.string() }),
	execute: async (state, { text }) => {
		await state.writeFile("/notes.txt", text, "text/plain");
		await state.scheduleEffect("remove_note", { path: "/notes.txt" }, 24 * 60 * 60 * 1000);
		return { status: "success", result: "Noted." };
	},
});
