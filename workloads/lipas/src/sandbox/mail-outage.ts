// A planned fault: the mail server is down for a while now and then, so that the breaker opens and closes by itself.
import type { Switches } from '@millrace/sandbox'

const EVERY_MS = 600_000
const LASTS_MS = 40_000

/** Leaves a switch alone that a person has thrown. Returns how to end it. */
export function planMailOutages(switches: Switches<'smtp'>): () => void {
  let over: NodeJS.Timeout | undefined
  const next = setInterval(() => {
    if (switches.get('smtp').mode !== 'ok') return
    switches.set('smtp', 'down')
    over = setTimeout(() => {
      if (switches.get('smtp').mode === 'down') switches.set('smtp', 'ok')
    }, LASTS_MS)
  }, EVERY_MS)
  return () => {
    clearInterval(next)
    clearTimeout(over)
  }
}
