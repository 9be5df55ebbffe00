// A project without jobs: what to type to get one.
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../data/queries.ts'
import { CommandLine } from '../../ui/code-block.tsx'
import { EmptyState } from '../../ui/states.tsx'

export function FirstJob() {
  const { data } = useQuery({ ...ask('catalogue', 'jobTypes', {}), staleTime: 30_000 })
  const type = data?.types[0]
  const examples = type?.document.examples
  const example = Array.isArray(examples) ? examples[0] : undefined
  return (
    <EmptyState title="There are no jobs yet.">
      {type === undefined ? (
        <>
          <p>No worker has declared a job type yet. Start one, and it appears here:</p>
          <CommandLine command="npx millrace dev dist/workload.js" />
        </>
      ) : (
        <>
          <p>Enqueue the first one, and watch it appear here:</p>
          <CommandLine command={`npx millrace enqueue ${type.name} ${inShell(JSON.stringify(example ?? {}))} --wait`} />
        </>
      )}
    </EmptyState>
  )
}

/** As one word of a shell. */
export const inShell = (text: string): string =>
  /^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
