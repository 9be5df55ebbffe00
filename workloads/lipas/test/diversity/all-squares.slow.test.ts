// All squares of the sample municipality, in both distance modes.
import { expect, test } from 'vitest'
import { analyseAll, expectBruteForce, storedCells } from '../support/brute-force.ts'
import { setup } from '../support/lipas.ts'

for (const mode of ['euclid', 'route'] as const)
  test(`the diversity of all squares equals that of plain computing: ${mode}`, { timeout: 300_000 }, async () => {
    await using t = await setup({ hasSampleData: true, env: { LIPAS_DISTANCE_MODE: mode } })
    await analyseAll(t)
    expect((await storedCells(t)).size).toBeGreaterThan(900)
    await expectBruteForce(t, mode === 'euclid' ? {} : { metres: (from, to) => t.sandbox.osrm.metres(from, to) })
    const modes = await t.sql("select distinct result ->> 'mode' as mode from millrace.jobs where type = 'analysis'")
    expect(modes).toEqual([{ mode }])
  })
