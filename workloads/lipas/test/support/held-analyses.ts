// Analyses that last as long as a test wants, to fill the general lane.
import { type Implementation, implement } from 'millrace'
import { analysis } from '#src/contracts'
import type { Lipas } from './lipas.ts'

/** The handlers of LIPAS, but analyses wait at a gate. */
export function heldAnalyses(t: Lipas, gate: Promise<void>): Implementation[] {
  const held = implement(analysis, async () => {
    await gate
    return { cells: 0, mode: 'euclid' as const, 'mean-before': null, 'mean-after': null }
  })
  return [...t.workload.handlers.filter(({ contract }) => contract.type !== analysis.type), held]
}
