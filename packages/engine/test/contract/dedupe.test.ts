import { defineJob, defineQueues, InvalidDefinition } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const { default: queue } = defineQueues({ default: {} })
const payload = z.object({ key: z.string() })
const key = (given: { key: string }) => given.key

describe('dedupe', () => {
  test.each([
    [
      { key, mode: 'windw', window: '1h' },
      /dedupe\.mode "windw": expected one of live, window, .* Did you mean "window"/,
    ],
    [{ key, window: '1h' }, /dedupe\.window with mode 'live': it belongs to mode 'window'/],
    [{ key, mode: 'window' }, /dedupe without window/],
    [{ key, mode: 'window', window: 0 }, /dedupe\.window 0/],
    [{ key, mode: 'debounce' }, /dedupe without wait/],
    [{ key, mode: 'debounce', wait: '5s', maxWait: '1s' }, /maxWait below dedupe\.wait/],
    [{ key, mode: 'latest', maxwait: '1s' }, /unknown option dedupe\.maxwait\. Did you mean "maxWait"/],
    [{ mode: 'latest' }, /dedupe without a key/],
  ])('%j is refused', (dedupe, message) => {
    const define = () => defineJob({ type: 'x', queue, payload, dedupe: dedupe as never })
    expect(define).toThrow(InvalidDefinition)
    expect(define).toThrow(message)
  })
})
