import { defineTool } from "@holdfast/threads";
import { z } from "zod";

export default defineTool({
	description: "Adds numbers.",
	args: z.object({ numbers: z.array(z.number()) }),
	execute: async (_state, { numbers }) => {
		return { status: "success", result: String(numbers.reduce((sum, number) => sum + number, 0)) };
	},
});
