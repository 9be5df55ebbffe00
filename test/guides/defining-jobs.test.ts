import type { JobContract, Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

test('the guide’s programs do what it says', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/defining-jobs.md')
  const contracts = await guide.load<Record<string, JobContract>>('contracts.ts')
  const { checkExamples } = await guide.load<{ checkExamples(): Promise<number> }>('check.ts')
  expect(await checkExamples()).toBe(2)
  const { demonstrate } = await guide.load<{ demonstrate(millrace: Millrace): Promise<string[]> }>('enqueue.ts')
  const told = await demonstrate(t.client(Object.values(contracts)))
  expect(told).toEqual(['queued', 'duplicate', 'queued', 'invoiceId', 'smtpPassword'])
  expect(await t.sql('select type, tenant, dedup_key from millrace.job order by id')).toEqual([
    { type: 'invoice.send', tenant: null, dedup_key: 'in_1' },
    { type: 'shop.sync', tenant: 's1', dedup_key: null },
  ])
})
