// Entry point of the simulation.
export { type PlantedFault, plantedFaults } from "./planted-faults.ts";
export { type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";
export type { SimulatedStore, WorldClock } from "./simulated-store.ts";
export type { WorldFault } from "./world.ts";
