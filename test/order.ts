// In which order test files run.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that wait more than they work. */
const waits = /\/bench\/test\/|\/cli\/test\/(supervisor|dev-desk)/

/** Spreads those that wait over the run, so that the others use the processors meanwhile, and none is left for the end. */
export class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const working = sorted.filter(({ moduleId }) => !waits.test(moduleId))
    const waiting = sorted.filter(({ moduleId }) => waits.test(moduleId))
    // All of them within the first two thirds.
    const between = Math.max(1, Math.floor((working.length * 2) / 3 / Math.max(1, waiting.length)))
    return [
      ...waiting.flatMap((file, i) => [file, ...working.slice(i * between, (i + 1) * between)]),
      ...working.slice(waiting.length * between),
    ]
  }
}
