// Chooses the model: a real one if its key is a secret of the Worker, else the rules of offline.ts.
import { createOpenAI } from "@ai-sdk/openai";
import { offline } from "./offline.ts";

export interface Secrets {
	readonly OPENAI_API_KEY?: string;
}

export const modelFor = ({ OPENAI_API_KEY }: Secrets) =>
	OPENAI_API_KEY ? createOpenAI({ apiKey: OPENAI_API_KEY })("gpt-5.2") : offline;
