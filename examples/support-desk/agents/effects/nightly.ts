import { defineEffect } from "@holdfast/threads";
import { z } from "zod";

/** Schedules the next report, then writes this one, so a failure does not end the series. */
export default defineEffect("Writes the nightly report.", z.object({}), async (state) => {
	await state.scheduleEffect("nightly", {}, 24 * 60 * 60 * 1000);
	const { total } = await state.getMessages({ limit: 1 });
	await state.writeFile("reports/nightly.md", `# Report\n\n${total} messages\n`, "text/markdown");
});
