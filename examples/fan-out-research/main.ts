// Twenty agents and an editor, in one run.
import { research } from "./research.ts";

const run = await research.session("report").send({ topics: 20 });
const { output } = await run.result();
console.log(output?.report);
await research.close();
