{{- /* The security context that the Pod Security level "restricted" requires. */ -}}
{{- define "gatewarden.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "gatewarden.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- /* Spreads the pods of one revision over zones and nodes. Takes (list . "component"). */ -}}
{{- define "gatewarden.spread" -}}
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels:
      {{- include "gatewarden.selector" $ | nindent 6 }}
{{- end }}
{{- end -}}

{{- /* Scheduling of pods. Takes (list . values-of-a-component "whether the engine runs in it"): adds the rules of the GPU if it does. */ -}}
{{- define "gatewarden.placement" -}}
{{- $own := pick (index . 1) "nodeSelector" "tolerations" "affinity" | deepCopy }}
{{- $gpu := (index . 0).Values.inference.gpu }}
{{- if and (index . 2) $gpu.resource }}
{{- $_ := set $own "nodeSelector" (merge $own.nodeSelector $gpu.nodeSelector) }}
{{- $_ := set $own "tolerations" (concat $own.tolerations $gpu.tolerations) }}
{{- end }}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Update strategy of pods. Takes (list . "whether the engine runs in them"). */ -}}
{{- define "gatewarden.rolling" -}}
{{- $gpu := (index . 0).Values.inference.gpu -}}
{{- if and (index . 1) $gpu.resource $gpu.scarce -}}
# A new pod would wait for the GPU that the old one holds.
rollingUpdate: { maxSurge: 0, maxUnavailable: 1 }
{{- else -}}
rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
{{- end -}}
{{- end -}}

{{- /* URLs of the stores, from their Secrets. Takes (list . "key of the database's Secret"). */ -}}
{{- define "gatewarden.databaseEnv" -}}
{{- $root := index . 0 -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: { name: {{ $root.Values.database.existingSecret | quote }}, key: {{ index . 1 | quote }} }
{{- end -}}

{{- define "gatewarden.redisEnv" -}}
- name: REDIS_URL
  valueFrom:
    secretKeyRef: { name: {{ .Values.redis.existingSecret | quote }}, key: {{ .Values.redis.key | quote }} }
{{- if .Values.redis.cluster }}
- { name: REDIS_CLUSTER, value: "true" }
{{- end }}
{{- end -}}

{{- /* Container of the document engine. Takes (list . "host it listens on"). */ -}}
{{- define "gatewarden.inferenceContainer" -}}
{{- $root := index . 0 -}}
{{- $own := $root.Values.inference -}}
name: inference
image: {{ include "gatewarden.image" (list $root $own.image) }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
command: [node, inference/main.ts]
env:
  - { name: HOST, value: {{ index . 1 | quote }} }
  - { name: PORT, value: "8090" }
  {{- include "gatewarden.engineSettings" $root | nindent 2 }}
  {{- if $own.models.existingClaim }}
  - { name: GW_MODELS_DIR, value: /var/lib/gatewarden-models }
  {{- end }}
  {{- with $own.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
securityContext:
  {{- include "gatewarden.containerSecurity" $root | nindent 2 }}
{{- $resources := deepCopy $own.resources }}
{{- with $own.gpu.resource }}
{{- $_ := set $resources "limits" (merge (dict . $own.gpu.count) (default dict $resources.limits)) }}
{{- end }}
resources:
  {{- toYaml $resources | nindent 2 }}
volumeMounts:
  - { name: inference-tmp, mountPath: /tmp }
  {{- if $own.models.existingClaim }}
  - { name: models, mountPath: /var/lib/gatewarden-models, readOnly: true }
  {{- end }}
{{- end -}}

{{- /* Container of an MCP server over standard input, behind the bridge. Takes (list . "one of gateway.stdioServers"). */ -}}
{{- define "gatewarden.stdioContainer" -}}
{{- $root := index . 0 -}}
{{- $own := index . 1 -}}
name: {{ printf "stdio-%s" $own.name }}
image: {{ $own.image | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
args:
  {{- toYaml $own.args | nindent 2 }}
env:
  - { name: GW_BRIDGE_PORT, value: {{ int64 $own.port | quote }} }
  - name: GW_BRIDGE_TOKEN
    valueFrom:
      secretKeyRef: { name: {{ $own.token.secret | quote }}, key: {{ $own.token.key | quote }} }
  {{- with $own.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $own.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "gatewarden.containerSecurity" $root | nindent 2 }}
resources:
  {{- toYaml (default (dict "requests" (dict "cpu" "50m" "memory" "128Mi") "limits" (dict "memory" "512Mi")) $own.resources) | nindent 2 }}
# Its port is open on loopback only, where probes by HTTP do not come.
startupProbe:
  exec:
    command: [node, -e, "fetch('http://127.0.0.1:{{ int64 $own.port }}/readyz').then((r) => process.exit(Number(!r.ok)), () => process.exit(1))"]
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 60
volumeMounts:
  - { name: {{ printf "stdio-%s-tmp" $own.name }}, mountPath: /tmp }
  {{- with $own.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "gatewarden.inferenceVolumes" -}}
- name: inference-tmp
  emptyDir: { sizeLimit: {{ .Values.inference.tmp.sizeLimit }} }
{{- with .Values.inference.models.existingClaim }}
- name: models
  persistentVolumeClaim: { claimName: {{ . | quote }}, readOnly: true }
{{- end }}
{{- end -}}
