// A handler that does not end when it must does not keep its job for ever.
import { implement } from 'millrace'
import { expect, test } from 'vitest'
import { analysis } from '#src/contracts'
import { setup } from './support/lipas.ts'

test('a handler that ignores its signal is given up after the stuck limit: its job is a dead letter', async () => {
  await using t = await setup()
  const deaf = implement(analysis, () => new Promise<never>(() => {}))
  const handlers = [...t.workload.handlers.filter(({ contract }) => contract.type !== analysis.type), deaf]
  const died = t.millrace.events.next('job_died')
  await t.work({
    handlers,
    lanes: { fast: { slots: 3, takes: 'fast', timeout: '300ms' }, general: { slots: 5, timeout: '300ms' } },
    timeouts: {},
    ...{ stuckAfter: '600ms', gracePeriod: '100ms', lease: { heartbeat: '150ms', ttl: '30s', sweep: '100ms' } },
  })
  const { id } = await t.millrace.enqueue(analysis, { 'lipas-id': 123 })
  expect(await died).toMatchObject({ job: { id } })
  expect(await t.millrace.deadLetters.ofJob(id)).toMatchObject({ reason: 'stuck' })
})
