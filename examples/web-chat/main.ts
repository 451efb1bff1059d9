// `main.ts [database] [port]`: open the page, ask something, and kill this process in the middle of the answer. Start it again, and
// the page continues without a reload.
import { bundlePage, startChat } from "./server.ts";

const [db = "./chat.db", port = "4280"] = process.argv.slice(2);
const server = await startChat({ db, port: Number(port), page: await bundlePage() });
console.log(`Open ${server.url}`);
process.once("SIGINT", () => void server.close());
