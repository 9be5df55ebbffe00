import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

test('scale drains one queue with several processes and counts claims that found nothing', async () => {
  const args = ['scale', '--rounds', '1', '--jobs', '2000']
  const { measurements, ratios, details } = await reportOf(args, { mayBeZero: /empty claims/ })
  const processes = ['1 process', '2 processes', '4 processes']
  expect(names(measurements)).toEqual(processes.flatMap((name) => [`${name}, drain`, `${name}, empty claims`]))
  expect(measurements[1]).toMatchObject({ unit: '%', target: { atMost: 1 } })
  expect(names(ratios)).toEqual(['2 processes / 1 process', '4 processes / 1 process'])
  for (const name of processes) {
    // The warm-up and one round.
    const ofEach = { claims: expect.any(Number), jobsPerClaim: expect.any(Number), emptyClaims: expect.any(Number) }
    expect(details?.claims).toMatchObject({ [name]: [ofEach, ofEach] })
  }
}, 120_000)
