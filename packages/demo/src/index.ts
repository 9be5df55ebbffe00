// The public surface, by name.
export { type Filled, type FillOptions, fillDemo, isDemo } from './fill.ts'
export { handlersAt } from './handlers.ts'
export { DemoRefused } from './refused.ts'
export { demoWorkload } from './workload.ts'
