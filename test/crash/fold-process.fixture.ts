// Folds the old runs of one session, and stays until it is killed.
import "./small-transactions.fixture.ts";
import { foldHistory } from "holdfast/host";
import { sqliteJournal } from "holdfast/sqlite";

const [path = "", before = ""] = process.argv.slice(2);
const journal = sqliteJournal({ path });
console.log("begins");
await foldHistory(journal, "s", { before: Number(before) });
setInterval(() => {}, 1_000);
