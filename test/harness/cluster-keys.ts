import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Who a certificate is for: a file name and the subject that Kubernetes reads user and groups from. */
const HOLDERS = {
  apiserver: '/CN=kube-apiserver',
  admin: '/O=system:masters/CN=admin',
  'controller-manager': '/CN=system:kube-controller-manager',
  scheduler: '/CN=system:kube-scheduler',
} as const;

/** Who may be a user of the test cluster. */
export type ClusterUser = Exclude<keyof typeof HOLDERS, 'apiserver'>;

const EXTENSIONS =
  'extendedKeyUsage=serverAuth,clientAuth\n' +
  'subjectAltName=DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.0.0.1\n';

/** Whether OpenSSL, which makes the certificates, is there. */
export function hasOpenssl(): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'openssl')));
}

/**
 * Makes what a control plane of its own needs in an empty folder: an authority (`ca.crt`), a certificate and a key a holder
 * (`<holder>.crt`, `<holder>.key`), and the pair that signs tokens of service accounts (`sa.key`, `sa.pub`).
 */
export function makeClusterKeys(folder: string): void {
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  };
  const newKey = (name: string): void =>
    openssl('ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', `${name}.key`);
  newKey('ca');
  const usage = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  openssl(
    'req',
    '-x509',
    '-new',
    '-key',
    'ca.key',
    '-subj',
    '/CN=gatewarden-test',
    '-days',
    '30',
    '-out',
    'ca.crt',
    ...usage,
  );
  writeFileSync(join(folder, 'extensions'), EXTENSIONS);
  for (const [name, subject] of Object.entries(HOLDERS)) {
    newKey(name);
    openssl('req', '-new', '-key', `${name}.key`, '-subj', subject, '-out', `${name}.csr`);
    const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '30', '-extfile', 'extensions'];
    openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-out', `${name}.crt`);
  }
  openssl('genrsa', '-out', 'sa.key', '2048');
  openssl('rsa', '-in', 'sa.key', '-pubout', '-out', 'sa.pub');
}

/** The text of a kubeconfig (JSON, which is YAML) by which a user reaches the server. */
export function kubeconfigOf(folder: string, user: ClusterUser, server: string): string {
  const credentials = {
    'client-certificate-data': data(folder, `${user}.crt`),
    'client-key-data': data(folder, `${user}.key`),
  };
  return kubeconfig(folder, server, user, credentials, 'default');
}

/** The same for whom a token stands for. */
export function tokenKubeconfig(folder: string, token: string, server: string, namespace: string): string {
  return kubeconfig(folder, server, 'account', { token }, namespace);
}

function kubeconfig(folder: string, server: string, name: string, user: object, namespace: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': data(folder, 'ca.crt') } }],
    users: [{ name, user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: name, namespace } }],
  });
}

function data(folder: string, file: string): string {
  return readFileSync(join(folder, file)).toString('base64');
}
