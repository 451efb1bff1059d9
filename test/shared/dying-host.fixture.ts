// Workers that die at an append.
export { DyingStore, type DyingWorker, type WorkflowCrash as Death } from "@holdfast/testing";
