// The inspector with damaged rows, in memory and in SQLite.
import { testDamagedData } from "./damaged-data.fixture.ts";
import { damagedMemory, damagedSqlite } from "./damaged-stores.fixture.ts";

testDamagedData("in memory", damagedMemory);
testDamagedData("in SQLite", damagedSqlite);
