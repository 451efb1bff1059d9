import { defineAgent } from "@holdfast/threads";

export default defineAgent({ name: "returns", sideA: { prompt: "explain" } });
