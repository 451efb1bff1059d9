// Forks one session again and again until it is killed.
import "./small-transactions.fixture.ts";
import { sqliteJournal } from "holdfast/sqlite";

const [path = "", name = ""] = process.argv.slice(2);
const journal = sqliteJournal({ path });
const { seq = 0 } = (await journal.head("s")) ?? {};
console.log("begins");
for (let count = 0; ; count++) await journal.fork("s", `${name}.${count}`, seq);
