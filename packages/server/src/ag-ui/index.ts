// Entry point of AG-UI: its requests and events as projections of executions.
export { agUi } from "./ag-ui-route.ts";
