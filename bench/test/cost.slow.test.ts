import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

const phases = (figures: readonly string[]): string[] => [
  ...figures.map((figure) => `enqueue, ${figure}`),
  ...[...figures, 'dead rows'].map((figure) => `run, ${figure}`),
]

test('cost measures log, processor time, pages and dead rows of a job', async () => {
  const { measurements, ratios, notes } = await reportOf(['cost', '--rounds', '1', '--jobs', '2000'])
  // On a server that is not its own it does not know the server's processes.
  const figures = phases(['log', 'CPU here', 'pages touched'])
  expect(names(measurements)).toEqual(
    ['millrace', 'raw loop'].flatMap((name) => figures.map((figure) => `${name}, ${figure}`)),
  )
  expect(names(ratios)).toEqual(figures.map((figure) => `millrace / raw loop, ${figure}`))
  expect(notes).toEqual([expect.stringMatching(/processor time of the server is left out/)])
  // Claimed and finished: each leaves one version of the row behind.
  expect(measurements.find(({ name }) => name === 'millrace, run, dead rows')?.median).toBeCloseTo(2, 1)
}, 120_000)
