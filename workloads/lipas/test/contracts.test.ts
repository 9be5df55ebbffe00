// The payloads of the seven types: what is taken, and what is refused by name before anything is written.
import { checkPayload, InvalidPayload, UnknownJobType } from 'millrace'
import { expect, test } from 'vitest'
import * as all from '#src/contracts'
import { setup } from './support/lipas.ts'

test('every example of every type is valid', async () => {
  expect(all.contracts.map(({ type }) => type)).toHaveLength(7)
  for (const contract of all.contracts)
    for (const example of contract.examples)
      await expect(
        checkPayload(contract, example as never),
        `${contract.type}: ${JSON.stringify(example)}`,
      ).resolves.toBeDefined()
})

test('an e-mail needs an address and nothing else', () => {
  const { payload } = all.email
  expect(payload.parse({ to: 'user@example.com' })).toEqual({
    to: 'user@example.com',
    subject: 'Message from LIPAS',
    body: '',
    type: 'notification',
  })
})

const wrong = [
  ['email', { to: 'x' }, 'to'],
  ['email', { to: 'user@example.com', subject: 'Hello\r\nBcc: all@example.com' }, 'subject'],
  ['email', { to: 'user@example.com', body: 'x'.repeat(100_001) }, 'body'],
  ['analysis', { 'lipas-id': 0 }, 'lipas-id'],
  ['analysis', { 'lipas-id': '12' }, 'lipas-id'],
  ['elevation', { 'lipas-id': 1.5 }, 'lipas-id'],
  ['webhook', {}, 'lipas-ids'],
  ['webhook', { 'lipas-ids': [] }, 'lipas-ids'],
  ['webhook', { 'lipas-ids': Array.from({ length: 1_001 }, (_, i) => i + 1) }, 'lipas-ids'],
  ['cleanup-jobs', { 'days-old': 0 }, 'days-old'],
] as const

test('what does not fit is refused with its path, and nothing is written', async () => {
  await using t = await setup()
  for (const [type, payload, path] of wrong) {
    const error = await t.millrace.enqueueByType(type, payload as never).catch((thrown: unknown) => thrown)
    expect(error, `${type} ${path}`).toBeInstanceOf(InvalidPayload)
    expect(String(error)).toContain(path)
  }
  expect(await t.sql('select 1 from millrace.jobs')).toEqual([])
})

test('the retired type and a misspelt one are unknown', async () => {
  await using t = await setup()
  await expect(t.millrace.enqueueByType('integration', {})).rejects.toThrow(UnknownJobType)
  await expect(t.millrace.enqueueByType('analisys', { 'lipas-id': 1 })).rejects.toThrow(/Did you mean "analysis"/)
})
