// A project without jobs: what to type.
import { Card } from '../../ui/card.tsx'
import { CodeBlock, CommandLine } from '../../ui/code-block.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Verdict } from '../../ui/verdict.tsx'

const CONTRACT = `import { defineJob, defineQueues } from 'millrace'
import { z } from 'zod'

const queues = defineQueues({ mail: { concurrency: 5, sla: '1m' } })
export const greet = defineJob({
  type: 'greet',
  queue: queues.mail,
  payload: z.object({ name: z.string() }),
})`

export const Welcome = ({ types }: { types: readonly string[] }) => (
  <>
    <Verdict facts={['This page fills by itself as soon as there is work.']}>Nothing has happened here yet.</Verdict>
    <Card flush>
      {types.length > 0 ? (
        <EmptyState title="Workers are ready. Enqueue the first job:">
          <CommandLine command={`npx millrace enqueue ${types[0]} '{}' --wait`} />
          <p className="note">
            Workers declare {types.length === 1 ? 'this type' : `these types: ${types.join(', ')}`}. If the payload does
            not fit, the answer says what is expected.
          </p>
        </EmptyState>
      ) : (
        <EmptyState title="Start a worker that has something to do">
          <p>Write a contract, or let millrace write a project that runs at once:</p>
          <CommandLine command="npx millrace init my-jobs" />
          <CodeBlock label="A contract" text={CONTRACT} />
          <p>Then start it, and enqueue a job:</p>
          <CommandLine command="npx millrace dev dist/workload.js" />
          <CommandLine command={`npx millrace enqueue greet '{"name":"Ada"}' --wait`} />
        </EmptyState>
      )}
    </Card>
  </>
)
