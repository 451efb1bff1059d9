import { definePrompt } from "@holdfast/threads";
import { z } from "zod";

export default definePrompt({
	name: "draft",
	toolDescription: "Drafts replies.",
	prompt: "You draft replies to customers.",
	model: "desk",
	requiredSchema: z.object({ message: z.string() }),
});
