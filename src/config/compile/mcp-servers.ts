import { follow, type Compilation } from './context.ts';

/** Checks what every MCPServer refers to. The snapshot does not carry them yet. */
export function checkMcpServers(compilation: Compilation): void {
  for (const resource of compilation.catalog.all('MCPServer')) {
    const { auth, workloads = [] } = resource.body.spec;
    if (auth.secretKeyRef) compilation.secrets.read(resource, 'spec.auth.secretKeyRef', auth.secretKeyRef);
    workloads.forEach((name, index) => {
      follow(compilation, resource, `spec.workloads[${index}]`, 'Workload', `${resource.namespace}/${name}`);
    });
  }
}
