// One connection of ns-3's TCP over a line, its queue and its losses.
//
// Arguments, in order: Mbit/s; one-way delay in us; packets that may wait; MTU; bytes of each buffer; delay of an
// acknowledgement in us, 0 for one of each segment; bytes to send, 0 for no end; the first packet of the client that is
// lost, and after how many others each further one (0: none); ms of the trial; ms of the interval by which is counted.
//
// Prints one line of JSON: by interval the bytes that the reader has got and the segments that have arrived, and when
// all that was to be sent was acknowledged, in us; 0 if it was not.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <list>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t HEADER_BYTES = 40;
// What ns-3 puts before a packet, and what Ethernet puts around it.
constexpr double PPP_BYTES = 2, FRAMING_BYTES = 38;
// A line and a queue that never limit.
constexpr uint64_t FAST_MBIT = 1'000'000;
constexpr uint64_t NO_LIMIT = 1'000'000;
constexpr uint64_t MOST_LOST = 1'000'000;

struct Trial
{
    uint64_t mbit, delay_us, room, mtu, buffer_bytes, ack_delay_us, transfer_bytes, first_lost, every, stop_ms,
        interval_ms;
};

struct Found
{
    std::vector<uint64_t> read, arrived;
    uint64_t acknowledged_us = 0;
};

Trial
read_arguments(char** words)
{
    std::vector<uint64_t> numbers;
    for (int k = 1; k <= 11; k++)
    {
        numbers.push_back(std::stoull(words[k]));
    }
    return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
            numbers[6], numbers[7], numbers[8], numbers[9], numbers[10]};
}

// RFC 5681 and 6298, without options but the scale of windows.
void
set_defaults(const Trial& trial)
{
    auto set = [](const char* name, const AttributeValue& value) { Config::SetDefault(name, value); };
    set("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    set("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    set("ns3::TcpSocketBase::Sack", BooleanValue(false));
    set("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    set("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    set("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    set("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    set("ns3::RttEstimator::InitialEstimation", TimeValue(Seconds(1)));
    set("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(1)));
    set("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    set("ns3::TcpSocket::SegmentSize", UintegerValue(trial.mtu - HEADER_BYTES));
    set("ns3::TcpSocket::SndBufSize", UintegerValue(trial.buffer_bytes));
    set("ns3::TcpSocket::RcvBufSize", UintegerValue(trial.buffer_bytes));
    set("ns3::TcpSocket::DelAckCount", UintegerValue(trial.ack_delay_us > 0 ? 2 : 1));
    set("ns3::TcpSocket::DelAckTimeout", TimeValue(MicroSeconds(trial.ack_delay_us)));
    set("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
}

NetDeviceContainer
link(NodeContainer nodes, double bit_rate, uint64_t delay_us, uint64_t room)
{
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bit_rate))));
    helper.SetChannelAttribute("Delay", TimeValue(MicroSeconds(delay_us)));
    helper.SetQueue("ns3::DropTailQueue<Packet>",
                    "MaxSize",
                    QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, static_cast<uint32_t>(room))));
    return helper.Install(nodes);
}

Ptr<ErrorModel>
lose(const Trial& trial)
{
    std::list<uint32_t> numbers;
    for (uint64_t number = trial.first_lost; trial.first_lost > 0 && number < MOST_LOST; number += trial.every)
    {
        numbers.push_back(static_cast<uint32_t>(number - 1));
        if (trial.every == 0)
        {
            break;
        }
    }
    auto model = CreateObject<ReceiveListErrorModel>();
    model->SetList(numbers);
    return model;
}

} // namespace

int
main(int, char** words)
{
    const Trial trial = read_arguments(words);
    Found found;
    set_defaults(trial);

    NodeContainer nodes;
    nodes.Create(3);
    const auto client = nodes.Get(0), gateway = nodes.Get(1), server = nodes.Get(2);
    const double share = (trial.mtu + PPP_BYTES) / (trial.mtu + FRAMING_BYTES);
    const auto near = link({client, gateway}, 1e6 * FAST_MBIT, 0, NO_LIMIT);
    const auto far = link({gateway, server}, 1e6 * trial.mbit * share, trial.delay_us, trial.room);
    DynamicCast<PointToPointNetDevice>(far.Get(1))->GetQueue()->SetMaxSize(
        QueueSize(QueueSizeUnit::PACKETS, NO_LIMIT));
    DynamicCast<PointToPointNetDevice>(near.Get(1))->SetReceiveErrorModel(lose(trial));

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(near);
    addresses.NewNetwork();
    const auto interfaces = addresses.Assign(far);
    TrafficControlHelper queues;
    queues.Uninstall(near);
    queues.Uninstall(far);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const uint16_t port = 5001;
    PacketSinkHelper sinks("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    const auto sink = DynamicCast<PacketSink>(sinks.Install(server).Get(0));
    BulkSendHelper senders("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
    senders.SetAttribute("MaxBytes", UintegerValue(trial.transfer_bytes));
    senders.SetAttribute("SendSize", UintegerValue(trial.mtu - HEADER_BYTES));
    const auto sender = DynamicCast<BulkSendApplication>(senders.Install(client).Get(0));

    uint64_t arrived = 0, before = 0;
    far.Get(1)->TraceConnectWithoutContext(
        "MacRx",
        Callback<void, Ptr<const Packet>>([&](Ptr<const Packet> packet) {
            arrived += packet->GetSize() > HEADER_BYTES + PPP_BYTES + 40;
        }));
    Simulator::Schedule(NanoSeconds(1), [&] {
        sender->GetSocket()->TraceConnectWithoutContext(
            "HighestRxAck",
            Callback<void, SequenceNumber32, SequenceNumber32>([&](SequenceNumber32, SequenceNumber32 number) {
                if (trial.transfer_bytes > 0 && found.acknowledged_us == 0 &&
                    number.GetValue() > trial.transfer_bytes)
                {
                    found.acknowledged_us = Simulator::Now().GetMicroSeconds();
                }
            }));
    });
    for (uint64_t ms = trial.interval_ms; ms < trial.stop_ms + trial.interval_ms; ms += trial.interval_ms)
    {
        Simulator::Schedule(MilliSeconds(std::min(ms, trial.stop_ms)), [&] {
            found.read.push_back(sink->GetTotalRx() - before);
            found.arrived.push_back(arrived);
            before = sink->GetTotalRx();
            arrived = 0;
        });
    }
    Simulator::Stop(MilliSeconds(trial.stop_ms) + NanoSeconds(1));
    Simulator::Run();
    Simulator::Destroy();

    auto list = [](const std::vector<uint64_t>& numbers) {
        std::string text;
        for (const auto number : numbers)
        {
            text += (text.empty() ? "" : ", ") + std::to_string(number);
        }
        return "[" + text + "]";
    };
    std::cout << "{\"read\": " << list(found.read) << ", \"arrived\": " << list(found.arrived)
              << ", \"acknowledged_us\": " << found.acknowledged_us << "}" << std::endl;
    return 0;
}
