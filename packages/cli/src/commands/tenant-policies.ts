import { Command } from 'commander'
import type { TenantPolicyReport } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { print, printJson } from '../print.ts'
import { table } from '../table.ts'

const help = `
A table with the tenant's column needs row security that is enabled and forced, a policy that looks at the setting
millrace.tenant, and no other policy that lets rows through beside it. \`tenantPolicySql\` of the library writes all that.
A view that shows rows of such a table needs security_invoker. A materialised view or foreign table that shows them must not
be open to other roles than its owner. A system role, named with --system-role, may see the rows of all tenants.

Exit codes:
  0  nothing is missing
  1  something is, or no table has the column

Examples:
  millrace tenant-policies check
  millrace tenant-policies check --schema app --column tenant_id --json
  millrace tenant-policies check --system-role reporting --system-role backup
`

interface Options extends ClientOptions {
  readonly schema: string
  readonly column: string
  readonly systemRole: readonly string[]
}

export function tenantPoliciesCommand(): Command {
  return new Command('tenant-policies')
    .summary('find tables and views that do not keep tenants apart')
    .description('Look after the row-level security that ctx.tenantDb relies on.')
    .addCommand(checkCommand())
}

function checkCommand(): Command {
  const command = new Command('check')
    .description(
      "Find tables with the tenant's column that lack row security, force or a policy, and views that read past it.",
    )
    .option('--schema <name>', 'where your tables are', 'public')
    .option('--column <name>', 'the column that holds the tenant', 'organization_id')
    .option('--system-role <name>', 'a role that may see the rows of all tenants; may be repeated', listed, [])
    .addHelpText('after', help)
  return addClientOptions(command).action(check)
}

async function check({ schema, column, systemRole, ...options }: Options, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const report = await millrace.checkTenantPolicies({ schema, column, systemRoles: systemRole })
    process.exitCode = report.isSound ? 0 : 1
    if (options.json) printJson(report)
    else print(textOf(report))
  })
}

const listed = (name: string, names: readonly string[]): string[] => [...names, name]

function textOf({ schema, column, tables }: TenantPolicyReport): string {
  if (tables.length === 0)
    return `No table of schema "${schema}" has a column "${column}". Name the right ones with --schema and --column.\n`
  const rows = tables.flatMap((each) => each.problems.map((problem) => [each.table, problem]))
  if (rows.length === 0)
    return `All ${tables.length} tables with "${column}" in schema "${schema}" keep tenants apart.\n`
  return table(['TABLE', 'PROBLEM'], rows)
}
