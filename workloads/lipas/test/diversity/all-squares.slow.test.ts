// All squares of the sample municipality, with walking distances.
import { expect, test } from 'vitest'
import { analyseAll, expectBruteForce } from '../support/brute-force.ts'
import { setup } from '../support/lipas.ts'

test('the diversity of all squares equals that of plain computing over the streets', { timeout: 120_000 }, async () => {
  await using t = await setup({ hasSampleData: true })
  await analyseAll(t)
  await expectBruteForce(t, { metres: (from, to) => t.sandbox.osrm.metres(from, to) })
  const modes = await t.sql("select distinct result ->> 'mode' as mode from millrace.jobs where type = 'analysis'")
  expect(modes).toEqual([{ mode: 'route' }])
})
