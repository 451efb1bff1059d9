import { openJournalFile } from "holdfast/sqlite";
import { type CheckReport, checkJournal } from "./index.ts";

/** What a full check finds in a file without an open host. */
export function checkFile(file: string): CheckReport {
	const journal = openJournalFile(file, "read");
	try {
		return checkJournal(journal, "full");
	} finally {
		journal.database.close();
	}
}
