import { defineModel } from "@holdfast/threads";
import { offline } from "../../offline.ts";

export default defineModel({
	name: "desk",
	provider: offline,
	model: "rules",
	inputPrice: 1,
	outputPrice: 2,
});
