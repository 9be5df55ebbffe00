// How many of the permits for screenshots (P12) are in use in this process: read at every scrape.
import type { Worker } from 'millrace'
import type { VillageContracts } from '../contracts.ts'

let taken: (() => number) | undefined

/** 0 while no worker of this process takes screenshots. */
export const screenshotsTaken = (): number => taken?.() ?? 0

/** Until it is called off. */
export function followScreenshots(
  worker: Pick<Worker, 'freePlaces'>,
  { SCREENSHOT_CAPTURE: { limits } }: Pick<VillageContracts, 'SCREENSHOT_CAPTURE'>,
): () => void {
  const [limit] = limits
  const read = (): number => {
    const all = limit?.perProcess ?? 0
    return all - (worker.freePlaces(limit?.name ?? '') ?? all)
  }
  taken = read
  return () => {
    if (taken === read) taken = undefined
  }
}
