import { defineTool } from "@holdfast/threads";
import { z } from "zod";

export default defineTool({
	description: "Approves a reply.",
	args: z.object({ reply: z.string() }),
	execute: async (_state, { reply }) => ({ status: "success", result: reply }),
});
