// Whom Fernwick Parcels tells of faults. They are invented, so nothing leaves the process: what is told shows in the outbox alone.
import { type Channel, defineEscalation, SendFailed } from '@millrace/escalation'

function invented(kind: Channel['kind'], { isFlaky = false } = {}): Channel {
  return {
    ...{ kind, spacingMs: 1_000, isPerFault: kind === 'pagerduty', grows: true, tells: ['acknowledged', 'resolved'] },
    async send() {
      if (isFlaky && Math.random() < 0.5)
        throw new SendFailed('missed', 'the mail server answered 451 4.3.0: try again later')
    },
  }
}

export const escalation = defineEscalation({
  channels: {
    platform: invented('pagerduty'),
    '#checkout': invented('slack'),
    'shops@fernwick.example': invented('email', { isFlaky: true }),
  },
  ops: 'platform',
  policies: {
    page: { to: 'platform', respondWithin: '15m' },
    chat: { to: '#checkout', respondWithin: '4h business hours' },
  },
})
