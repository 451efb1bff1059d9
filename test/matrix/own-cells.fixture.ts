// The cells of all places whose agents are defined in a way of their own.
import { commandCells } from "./command-cells.fixture.ts";
import type { OwnCell } from "./own-cell.fixture.ts";
import { runnerCells } from "./runner-cells.fixture.ts";
import { threadCells } from "./thread-cells.fixture.ts";

export const ownCells: readonly OwnCell[] = [...threadCells, ...runnerCells, ...commandCells];
