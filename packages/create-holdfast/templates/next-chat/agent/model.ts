// The model. With a key it is a real one; without, a few rules, so that everything here runs offline. Any model of the AI
// SDK works here: npm install @ai-sdk/anthropic, and use anthropic("…") instead of openai("…").
import { openai } from "@ai-sdk/openai";
import { offline } from "./offline.ts";

export const model = process.env.OPENAI_API_KEY ? openai("gpt-5.2") : offline;
