import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runJob } from 'millrace/testing'
import { greeter } from './handlers.js'

test('greets by name', async () => {
  const run = await runJob(greeter, { name: 'Ada' })
  assert.equal(run.outcome, 'completed')
  assert.deepEqual(run.result, { text: 'Hello, Ada!' })
})
