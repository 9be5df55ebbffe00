// Any program that takes a signed webhook (Standard Webhooks).
import { signWebhook } from '@millrace/egress'
import type { Channel, Message } from '../channel.ts'
import { post } from '../http.ts'
import { linksFor } from '../links.ts'

export interface WebhookOptions {
  url: string
  /** One secret, or the new and the old one during a rotation. */
  secrets: string | readonly string[]
}

export function webhook({ url, secrets }: WebhookOptions): Channel {
  return {
    kind: 'webhook',
    spacingMs: 0,
    isPerFault: false,
    grows: false,
    tells: ['acknowledged', 'resolved'],
    async send(message, transports) {
      const body = JSON.stringify(documentOf(message))
      const headers = signWebhook({ id: message.key.replaceAll(/[^!-~]|\./g, '-').slice(0, 255), body, secrets })
      await post(transports, { to: `The webhook of ${new URL(url).host}`, url, body, headers: { ...headers } })
    },
  }
}

function documentOf({ key, isRepeat, faults, news, links, at }: Message): object {
  const withLinks = (fault: Message['faults'][number]) => ({ ...fault, links: linksFor(fault, links) })
  return {
    type: 'millrace.escalation',
    ...{ key, isRepeat, at },
    faults: faults.map(withLinks),
    news: news.map((each) => ({ ...each, fault: withLinks(each.fault) })),
  }
}
