import { defineEffect } from "@holdfast/threads";
import { z } from "zod";

export default defineEffect("Removes a note.", z.object({ path: z.string() }), async (state, { path }) => {
	if ((await state.statFile(path)) !== null) await state.unlinkFile(path);
});
