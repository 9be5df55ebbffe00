import { Facts } from '../ui/card.tsx'
import { CommandLine, JsonBlock } from '../ui/code-block.tsx'
import { Field } from '../ui/field.tsx'
import { KeyHints } from '../ui/key-hints.tsx'
import { Duration, Percent, Quantity } from '../ui/text/figures.tsx'
import { RelativeTime } from '../ui/text/relative-time.tsx'

export const TextSamples = () => (
  <>
    <Facts
      of={[
        ['seen', <RelativeTime key="a" at={Date.now() - 740_000} />],
        ['next', <RelativeTime key="b" at={Date.now() + 94_000} />],
        ['took', <Duration key="c" ms={372_000} />],
        ['waiting', <Quantity key="d" value={48_219} compact />],
        ['share', <Percent key="e" share={0.0912} />],
        ['nothing', null],
      ]}
    />
    <JsonBlock label="Payload" value={{ message_id: '8d0f6a0e', kind: '<b>reply</b>', attachments: 3 }} />
    <p />
    <CommandLine command="millrace dead redrive --fingerprint 9f3ac41e07b2 --canary 5 --rate 20/s" />
    <Field label="Weight" hint="From 1 to 1000">
      <input type="number" defaultValue={1} />
    </Field>
    <Field label="Reason" wrong="Say why: others will ask.">
      <input />
    </Field>
    <KeyHints
      hints={[
        { keys: '/', does: 'search' },
        { keys: 'g j', does: 'jobs' },
      ]}
      end={{ keys: '?', does: 'all keys' }}
    />
  </>
)
