// `main.ts [database] [port]`: serves the desk until it is stopped. You can kill it at any time.
import { startDesk } from "./desk.ts";

const [database = "desk.db", port = "4280"] = process.argv.slice(2);
const { url } = await startDesk({ database, port: Number(port) });
console.log(`The desk is at ${url}`);
